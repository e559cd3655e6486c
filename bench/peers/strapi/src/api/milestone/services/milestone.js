// The service of milestones, as Strapi makes it.
// Decides nothing.

const { createCoreService } = require('@strapi/strapi').factories;

module.exports = createCoreService('api::milestone.milestone');
