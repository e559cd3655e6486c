// What signed in, in words, from what it called itself: "Firefox on Linux". A guess for the eye; nothing is decided by it.
// Pure.

const programs: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\/|\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/\bcurl\//, 'curl'],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux|X11/, 'Linux'],
];

const MAX_SHOWN = 60;

export function browserWords(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown program';
  const program = programs.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1];
  if (program === undefined) return userAgent.length > MAX_SHOWN ? `${userAgent.slice(0, MAX_SHOWN)}…` : userAgent;
  return system === undefined ? program : `${program} on ${system}`;
}
