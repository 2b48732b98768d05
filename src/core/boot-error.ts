/** A mistake in the program, found at startup. The message states what is wrong, where, and what to write instead. */
export class BootError extends Error {
  override name = 'BootError'
}
