-- The invitations of a workspace that wait, without those that were used, were revoked or have long ended.

create index invitations_pending on invitations (workspace_id, expires_at) where accepted_at is null and revoked_at is null;
