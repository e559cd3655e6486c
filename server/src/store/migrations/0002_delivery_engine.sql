-- The delivery engine: caps and order of an endpoint, its circuit breaker, what tells a first attempt from a repetition, who holds a lease.
-- What changes with every claim stands in tables of its own (webhook_flows), so that sending never waits for a write of the books.

alter table webhook_endpoints
  -- Attempts under way at once, over all processes.
  add column max_concurrency integer not null default 16 check (max_concurrency between 1 and 256),
  -- Attempts begun in any second, over all processes; null: as many as there are.
  add column rate_limit_per_second integer check (rate_limit_per_second between 1 and 10000),
  add column ordering text not null default 'none' check (ordering in ('none', 'project')),
  -- Counts new addresses and enablings: what the circuit breaker saw of an earlier generation says nothing of this one.
  add column generation integer not null default 1;

-- An event of the workspace itself (an endpoint was disabled) belongs to no project.
alter table events alter column project_id drop not null;

alter table deliveries
  -- False: never attempted. True: a retry or a replay. First attempts never queue behind repetitions.
  add column is_repeat boolean not null default false,
  -- Attempts that count in the schedule. A replay begins again at 0, while `attempts` numbers on.
  add column tries integer not null default 0,
  -- Leases of the attempt that is due that ended without a result: what kills its process is not sent for ever.
  add column lost_leases smallint not null default 0,
  -- The process that holds the lease (webhook_workers).
  add column lease_owner uuid,
  -- The project, where the endpoint asked for order: a delivery waits for the earlier pending ones of its key. Null: it waits for none.
  add column order_key uuid;
update deliveries set is_repeat = true, tries = attempts where status = 'pending' and attempts > 0;

-- As with the books, links are checked once a statement and not once a row: a foreign key made the insert of deliveries twice as expensive
-- and wrote a lock into every event. Neither endpoints nor events are ever deleted. An attempt is written by the statement that settles its
-- delivery, and so belongs to one; it is deleted together with it.
alter table deliveries drop constraint deliveries_workspace_id_endpoint_id_fkey, drop constraint deliveries_workspace_id_event_seq_fkey;
alter table delivery_attempts drop constraint delivery_attempts_workspace_id_delivery_id_fkey;
create function refuse_unlinked_deliveries() returns trigger language plpgsql as $$
begin
  if exists (select from (select distinct workspace_id, endpoint_id from added) a where not exists (
    select from webhook_endpoints w where w.workspace_id = a.workspace_id and w.id = a.endpoint_id
  )) then
    raise exception 'a delivery belongs to no endpoint of its workspace' using errcode = 'foreign_key_violation';
  end if;
  if exists (select from (select distinct workspace_id, event_seq from added) a where not exists (
    select from events e where e.workspace_id = a.workspace_id and e.seq = a.event_seq
  )) then
    raise exception 'a delivery belongs to no event of its workspace' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger deliveries_linked after insert on deliveries
  referencing new table as added for each statement execute function refuse_unlinked_deliveries();

drop index deliveries_due;
-- What may be claimed, by endpoint: first attempts, then repetitions by when they are due. A claim leaps from endpoint to endpoint.
create index deliveries_due on deliveries (workspace_id, endpoint_id, is_repeat, next_attempt_at, id)
  where status = 'pending' and lease_token is null and order_key is null;
-- The pending ones of ordered endpoints, those under way before all others: the first of each key says whether something of it is under
-- way, and otherwise is the only one that may be claimed.
create index deliveries_in_order on deliveries (workspace_id, endpoint_id, order_key, (lease_token is null), event_seq)
  where status = 'pending' and order_key is not null;
-- What is under way, in all processes: small, and all there is to look at for leases that ended.
create index deliveries_leased on deliveries (next_attempt_at) where status = 'pending' and lease_token is not null;
-- A queue leaves dead rows at the front of its indexes; they are cleaned away long before a fifth of the table is dead.
alter table deliveries set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 5000);

-- How much goes to an endpoint now, and whether anything does: the caps' counters and the circuit breaker, one row per endpoint, shared by
-- all processes. Locked by claims (SKIP LOCKED) and by results; never by a write of the books.
create table webhook_flows (
  workspace_id   uuid not null,
  endpoint_id    uuid not null,
  -- Leased deliveries.
  in_flight      integer not null default 0,
  -- The rate cap: when the attempts begun so far are paid for (null: long ago).
  paid_until     timestamptz(3),
  breaker        text not null default 'closed' check (breaker in ('closed', 'open', 'half_open')),
  -- Failed attempts since the last acknowledged one.
  failures       integer not null default 0,
  -- Times that it opened since it was last closed.
  openings       integer not null default 0,
  -- Attempts at once while half open.
  allowance      integer not null default 1,
  -- When an open breaker lets the next probe through.
  probe_at       timestamptz(3),
  -- A receiver asked for a pause of all it is sent (429 or 503 with Retry-After).
  resume_at      timestamptz(3),
  -- The first of those failures.
  failing_since  timestamptz(3),
  -- The endpoint's generation that the breaker speaks of.
  generation     integer not null default 1,
  primary key (workspace_id, endpoint_id),
  foreign key (workspace_id, endpoint_id) references webhook_endpoints (workspace_id, id)
) with (fillfactor = 50);
insert into webhook_flows (workspace_id, endpoint_id) select workspace_id, id from webhook_endpoints;
update webhook_flows f set in_flight = d.leased
  from (select workspace_id, endpoint_id, count(*) as leased from deliveries where status = 'pending' and lease_token is not null group by 1, 2) d
  where d.workspace_id = f.workspace_id and d.endpoint_id = f.endpoint_id;

-- Every endpoint has its flow from the start: a claim finds none without.
create function add_webhook_flows() returns trigger language plpgsql as $$
begin
  insert into webhook_flows (workspace_id, endpoint_id) select workspace_id, id from added;
  return null;
end $$;
create trigger webhook_endpoints_flow after insert on webhook_endpoints
  referencing new table as added for each statement execute function add_webhook_flows();

-- The delivering processes that are alive, by the database's own clock. What one of them held is free soon after it is gone.
create table webhook_workers (
  id         uuid primary key,
  started_at timestamptz(3) not null,
  seen_at    timestamptz(3) not null
) with (fillfactor = 50);
