import { CopyLine } from '../../../parts/copy.tsx';
import { Section } from '../../../parts/section.tsx';

/** How a backup comes back to a router. The control plane does not do it: it replaces everything, and somebody should stand beside it. */
export function Restore() {
  return (
    <Section title="Bring one back">
      <div className="prose restore">
        <p>
          <b>The whole router, same device:</b> download the binary, upload it to the router (WinBox, Files, or scp), then load it. The
          router reboots with everything as it was, its users and keys included.
        </p>
        <CopyLine text='/system backup load name=FILE.backup password=""' label="the command" />
        <p>
          <b>Parts of it, or another device:</b> download the export, keep the lines that you want, upload it, then import it. Lines that
          exist already stop the import with an error.
        </p>
        <CopyLine text="/import file-name=FILE.rsc verbose=yes" label="the command" />
        <p className="dim">An export never holds the passwords of the router's users.</p>
      </div>
    </Section>
  );
}
