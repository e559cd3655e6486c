// The admin panel of the Strapi peer is not served: nothing that is measured needs it.
// Secrets are of this benchmark only.

module.exports = {
  serveAdminPanel: false,
  auth: { secret: 'bench_admin_secret' },
  apiToken: { salt: 'bench_token_salt' },
  transfer: { token: { salt: 'bench_transfer_salt' } },
  secrets: { encryptionKey: 'bench_encryption_key_0123456789a' },
};
