// The routes of projects, as Strapi makes them.
// Decides nothing.

const { createCoreRouter } = require('@strapi/strapi').factories;

module.exports = createCoreRouter('api::project.project');
