// Where to go after signing in: to the page that was asked for, if it is one of ours.
// Pure: an address that leads anywhere else is not followed.

export function whereNext(next: string | undefined): string {
  if (next === undefined || !next.startsWith('/') || /^\/[/\\]/.test(next) || /[\t\n\r]/.test(next)) return '/';
  return next;
}
