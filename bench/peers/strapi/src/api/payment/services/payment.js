// The service of payments, as Strapi makes it.
// Decides nothing.

const { createCoreService } = require('@strapi/strapi').factories;

module.exports = createCoreService('api::payment.payment');
