// The routes of events, as Strapi makes them.
// Decides nothing.

const { createCoreRouter } = require('@strapi/strapi').factories;

module.exports = createCoreRouter('api::event.event');
