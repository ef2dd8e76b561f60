/** Two tracks and a signal. */
export function Mark() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M1 4h18v5H1z" fill="currentColor" />
      <path d="M1 11h7v5H1zM14 11h5v5h-5z" fill="currentColor" />
      <path d="M9.4 13.6h3.2V16H9.4z" fill="var(--sb-bar-not)" />
    </svg>
  );
}
