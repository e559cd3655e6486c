-- The by-hand server keeps the tables and indexes of this service, with plain foreign keys, as one would write them, in place of the
-- checks once a statement: those pay off for batches only, and would slow down statements of one row.
drop trigger invoices_linked on invoices;
drop trigger payments_linked on payments;
drop trigger ledger_entries_sound on ledger_entries;
drop trigger events_linked on events;
alter table invoices add foreign key (workspace_id, milestone_id) references milestones (workspace_id, id);
alter table payments add foreign key (workspace_id, milestone_id) references milestones (workspace_id, id);
alter table payments add foreign key (workspace_id, invoice_id) references invoices (workspace_id, id);
alter table ledger_entries add foreign key (workspace_id, payment_id) references payments (workspace_id, id);
alter table events add foreign key (workspace_id) references workspaces (id);
