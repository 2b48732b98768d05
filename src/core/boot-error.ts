/** A mistake of the program, found before the first request. Its message says what, where and what to write instead. */
export class BootError extends Error {
  override name = 'BootError'
}
