import path from 'node:path';

/**
 * The folder of what is built and not compiled: the web application and the agent in one file. A checkout has it in `dist/`; in the
 * package, the compiled programs stand there, too.
 */
export const BUILT = path.resolve(import.meta.dirname, import.meta.filename.endsWith('.ts') ? '../dist' : '..');
