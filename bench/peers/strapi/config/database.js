// The database of the Strapi peer: PostgreSQL, a pool of the size that all peers have.
// Says nothing of its tables; the content types do.

module.exports = ({ env }) => ({
  connection: {
    client: 'postgres',
    connection: { connectionString: env('DATABASE_URL'), ssl: false },
    pool: { min: env.int('POOL_SIZE', 10), max: env.int('POOL_SIZE', 10) },
  },
});
