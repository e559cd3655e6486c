// The controller of payments, as Strapi makes it.
// Decides nothing.

const { createCoreController } = require('@strapi/strapi').factories;

module.exports = createCoreController('api::payment.payment');
