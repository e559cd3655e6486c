// The routes of payments, as Strapi makes them.
// Decides nothing.

const { createCoreRouter } = require('@strapi/strapi').factories;

module.exports = createCoreRouter('api::payment.payment');
