// The routes of invoices, as Strapi makes them.
// Decides nothing.

const { createCoreRouter } = require('@strapi/strapi').factories;

module.exports = createCoreRouter('api::invoice.invoice');
