import '@mantine/core/styles/UnstyledButton.css';
import '@mantine/core/styles/Overlay.css';
import '@mantine/core/styles/ScrollArea.css';
import '@mantine/core/styles/Paper.css';
import '@mantine/core/styles/CloseButton.css';
import '@mantine/core/styles/ModalBase.css';
import '@mantine/core/styles/Modal.css';
import './modal.css';
import { Modal } from '@mantine/core';
import { words } from '../words.ts';

interface Props {
  title: string;
  onClose: () => void;
  children: React.ReactNode;
}

export default function SignalboxModal({ title, onClose, children }: Props) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={480}
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': words.close }}
      classNames={{ content: 'modal', title: 'modal-title' }}
      // Mantine makes it a <header>, which in a dialog would be a second banner of the page (axe: landmark-no-duplicate-banner).
      attributes={{ header: { role: 'presentation' } }}
    >
      {children}
    </Modal>
  );
}
