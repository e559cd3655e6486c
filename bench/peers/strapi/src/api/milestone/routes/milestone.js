// The routes of milestones, as Strapi makes them.
// Decides nothing.

const { createCoreRouter } = require('@strapi/strapi').factories;

module.exports = createCoreRouter('api::milestone.milestone');
