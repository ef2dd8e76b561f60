import path from 'node:path';

const IS_CLONE = import.meta.filename.endsWith('.ts');

/**
 * The folder of what is built and not compiled: the web application and the agent in one file. A checkout has it in `dist/`; in the
 * package, the compiled programs stand there, too.
 */
export const BUILT = path.resolve(import.meta.dirname, IS_CLONE ? '../dist' : '..');

/** How a person calls the command line here: an installed package is on the path. */
export const PROGRAM = IS_CLONE ? 'npx signalbox' : 'signalbox';

/** Makes the first team and its administrator, who administers the installation, too: as the page behind the link of `serve` does. */
export const FIRST_ACCOUNT: readonly string[] = [
  `${PROGRAM} team create Example`,
  `${PROGRAM} user create you@example.net --team Example --role admin \\`,
  '  --installation-admin',
];
