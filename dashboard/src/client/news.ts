// What an event of the log makes out of date: which kept answers are asked for again when it comes.
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
