// The controller of events, as Strapi makes it.
// Decides nothing.

const { createCoreController } = require('@strapi/strapi').factories;

module.exports = createCoreController('api::event.event');
