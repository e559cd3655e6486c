// The service of projects, as Strapi makes it.
// Decides nothing.

const { createCoreService } = require('@strapi/strapi').factories;

module.exports = createCoreService('api::project.project');
