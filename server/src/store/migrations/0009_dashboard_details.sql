-- How many requests an entry of the request log stands for: refusals for the rate limit are gathered by second.
alter table request_log add column request_count integer not null default 1;

-- Why an endpoint is disabled, as a word; disabled_reason says it to people. Of those that are disabled already, the sentence tells.
alter table webhook_endpoints add column disabled_cause text
  check (disabled_cause in ('request', 'gone', 'failing', 'workspace_closed'));
update webhook_endpoints set disabled_cause = case
    when disabled_reason = 'Disabled by a request.' then 'request'
    when disabled_reason = 'The endpoint answered 410 Gone.' then 'gone'
    when disabled_reason = 'The workspace was closed.' then 'workspace_closed'
    when disabled_reason like 'Every attempt since %' then 'failing'
  end
  where status = 'disabled';
