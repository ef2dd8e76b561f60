import '@mantine/core/styles/UnstyledButton.css';
import '@mantine/core/styles/Overlay.css';
import '@mantine/core/styles/ScrollArea.css';
import '@mantine/core/styles/Paper.css';
import '@mantine/core/styles/CloseButton.css';
import '@mantine/core/styles/ModalBase.css';
import '@mantine/core/styles/Modal.css';
import './modal.css';
import { Modal } from '@mantine/core';

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
      closeButtonProps={{ 'aria-label': 'Close' }}
      classNames={{ content: 'modal', title: 'modal-title' }}
    >
      {children}
    </Modal>
  );
}
