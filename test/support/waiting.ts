/*
 * Ways to wait for a moment in a test.
 */

/** A promise that the test resolves. */
export interface Gate {
  readonly open: () => void
  readonly opened: Promise<void>
}

export function gate(): Gate {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open: () => open() }
}

/** Waits until the condition holds, and checks it every `interval` milliseconds. @throws when it does not within `limit` milliseconds. */
export async function until(
  condition: string,
  holds: () => boolean | Promise<boolean>,
  interval = 10,
  limit = 10_000,
): Promise<void> {
  const end = Date.now() + limit
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`After ${limit / 1000} seconds this is still not so: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, interval))
  }
}
