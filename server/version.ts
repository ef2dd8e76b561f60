/** Kept equal to package.json by a test. */
export const SERVER_VERSION = '0.1.0';
