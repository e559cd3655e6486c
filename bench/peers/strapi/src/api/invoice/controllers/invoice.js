// The controller of invoices, as Strapi makes it.
// Decides nothing.

const { createCoreController } = require('@strapi/strapi').factories;

module.exports = createCoreController('api::invoice.invoice');
