// Strapi's own middlewares, without the one that logs each request, the sessions and the sender of its name.
// Order is Strapi's.

module.exports = [
  'strapi::errors',
  'strapi::security',
  'strapi::cors',
  'strapi::query',
  'strapi::body',
  'strapi::favicon',
  'strapi::public',
];
