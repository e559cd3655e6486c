// Approving a milestone: the update is Strapi's own; invoice, payment and events are written with it, in one transaction.
// The row is locked first, so that of two approvals at once the second sees the first.

const { createCoreController } = require('@strapi/strapi').factories;

module.exports = createCoreController('api::milestone.milestone', ({ strapi }) => ({
  async update(ctx) {
    if (ctx.request.body.data?.state !== 'approved') return super.update(ctx);
    const { id: documentId } = ctx.params;
    return strapi.db.transaction(async ({ trx }) => {
      const [milestone] = await strapi.db.getConnection('milestones').transacting(trx).where({ document_id: documentId }).forUpdate();
      if (milestone === undefined) return ctx.notFound();
      if (milestone.state !== 'submitted') return ctx.conflict('invalid_transition');
      const now = new Date().toISOString();
      ctx.request.body.data.approved_at = now;
      const answer = await super.update(ctx);
      const [{ last: number }] = await strapi.db.getConnection('invoice_counter').transacting(trx).increment('last', 1).returning('last');
      const { amount, currency, payee_id, title } = milestone;
      const invoice = await strapi
        .documents('api::invoice.invoice')
        .create({ data: { number, total: amount, currency, state: 'paid', milestone: documentId } });
      const money = { amount, currency, payee_id, client_id: 'client_1', state: 'released', released_at: now };
      await strapi.documents('api::payment.payment').create({ data: { ...money, milestone: documentId, invoice: invoice.documentId } });
      const events = strapi.documents('api::event.event');
      await events.create({ data: { type: 'milestone.approved', data: { milestoneId: documentId, title, amount, currency } } });
      await events.create({ data: { type: 'payment.released', data: { milestoneId: documentId, amount, currency } } });
      return answer;
    });
  },
}));
