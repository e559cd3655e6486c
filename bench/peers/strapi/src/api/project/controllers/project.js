// Creating a project with its milestones in one request: what a team adds to Strapi, which creates no related entries by itself.
// One transaction; everything is written by Strapi's document service.

const { createCoreController } = require('@strapi/strapi').factories;

module.exports = createCoreController('api::project.project', ({ strapi }) => ({
  async create(ctx) {
    const { milestones = [], ...data } = ctx.request.body.data ?? {};
    const project = await strapi.db.transaction(async () => {
      const made = await strapi.documents('api::project.project').create({ data });
      for (const milestone of milestones) {
        await strapi.documents('api::milestone.milestone').create({ data: { ...milestone, state: 'pending', project: made.documentId } });
      }
      await strapi.documents('api::event.event').create({ data: { type: 'project.created', data: { projectId: made.documentId } } });
      return made;
    });
    ctx.status = 201;
    return this.transformResponse(await this.sanitizeOutput(project, ctx));
  },
}));
