// What an event of the log, or a hint of a change without one, makes out of date: which kept answers are asked for again when it comes.
// Says only what; live-events.ts does it.

/** By the first word of an event's kind. */
const touched: Readonly<Record<string, readonly string[]>> = {
  project: ['projects'],
  milestone: ['milestones', 'projects'],
  payment: ['payments', 'invoices', 'milestones', 'projects'],
  invoice: ['invoices', 'projects'],
  webhook_endpoint: ['webhook_endpoints'],
};

/** Made from everything, so always touched: the front page, and the log itself. */
const always = ['overview', 'events', 'deliveries'];

export function resourcesTouchedBy(eventType: string): readonly string[] {
  const [noun = ''] = eventType.split('.');
  return [...(touched[noun] ?? []), ...always];
}

/** What is made from others beside themselves. */
const madeFrom: Readonly<Record<string, readonly string[]>> = {
  projects: ['milestones', 'overview'],
  milestones: ['projects', 'overview'],
  webhook_endpoints: ['overview'],
  members: ['account'],
  invitations: ['members'],
  workspace: ['account'],
};

/** By the kinds of records that changed, named as their paths are. */
export function resourcesTouchedByChange(changed: readonly string[]): readonly string[] {
  return [...new Set(changed.flatMap((resource) => [resource, ...(madeFrom[resource] ?? [])]))];
}
