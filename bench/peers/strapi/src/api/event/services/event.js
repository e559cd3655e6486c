// The service of events, as Strapi makes it.
// Decides nothing.

const { createCoreService } = require('@strapi/strapi').factories;

module.exports = createCoreService('api::event.event');
