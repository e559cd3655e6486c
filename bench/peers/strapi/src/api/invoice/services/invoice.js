// The service of invoices, as Strapi makes it.
// Decides nothing.

const { createCoreService } = require('@strapi/strapi').factories;

module.exports = createCoreService('api::invoice.invoice');
