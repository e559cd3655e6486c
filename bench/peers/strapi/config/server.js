// Where the Strapi peer listens.
// Secrets are of this benchmark only.

module.exports = ({ env }) => ({
  host: '127.0.0.1',
  port: env.int('PORT'),
  app: { keys: ['bench_key_1', 'bench_key_2'] },
  logger: { updates: { enabled: false }, startup: { enabled: false } },
});
