// At its first start the Strapi peer makes the token that the benchmark calls it with, with full access.
// The token is left in the file that is named to it; Strapi keeps its hash.

const { writeFileSync } = require('node:fs');

module.exports = {
  register() {},
  async bootstrap({ strapi }) {
    const { accessKey } = await strapi.service('admin::api-token').create({ name: 'bench', type: 'full-access', lifespan: null });
    writeFileSync(process.env.TOKEN_FILE, accessKey);
  },
};
