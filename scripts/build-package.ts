/** `npm pack` runs this first (`prepack`), and `npm run package` runs `npm pack`: one file that `npm i -g` installs. */
import { buildPackage } from './build-package/build.ts';

await buildPackage();
