// What a team adds to Directus for an approval: a hook in the transaction of the update, which writes invoice, payment and events.
// Decides only whether the milestone may be approved; the update itself is Directus's own.

import { randomUUID } from 'node:crypto';

export default ({ filter }) => {
  filter('milestones.items.update', async (payload, { keys }, { database }) => {
    if (payload.status !== 'approved') return payload;
    const now = new Date();
    const found = await database('milestones').whereIn('id', keys).forUpdate();
    for (const milestone of found) {
      if (milestone.status !== 'submitted') throw new Error('invalid_transition');
      const [project] = await database('projects').where({ id: milestone.project });
      const [{ last: number }] = await database('invoice_counter').increment('last', 1).returning('last');
      const { amount, currency, title } = milestone;
      const invoice = { id: randomUUID(), number, milestone: milestone.id, total: amount, currency, status: 'paid', created_at: now };
      await database('invoices').insert(invoice);
      await database('payments').insert({
        id: randomUUID(),
        project: milestone.project,
        milestone: milestone.id,
        invoice: invoice.id,
        client_id: project.client_id,
        payee_id: milestone.payee_id,
        amount,
        currency,
        status: 'released',
        released_at: now,
        created_at: now,
      });
      const data = { projectId: milestone.project, milestoneId: milestone.id, amount, currency };
      const event = (type, fields) => ({ id: randomUUID(), type, data: JSON.stringify(fields), created_at: now });
      await database('events').insert([event('milestone.approved', { ...data, title }), event('payment.released', data)]);
    }
    return { ...payload, approved_at: now };
  });
};
