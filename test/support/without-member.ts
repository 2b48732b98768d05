/** Makes a member of an object, or of all objects of a prototype, undefined while the work runs, even if a constructor assigns it. */
export async function withoutMember(owner: object, member: string, work: () => Promise<void>): Promise<void> {
  const own = Object.getOwnPropertyDescriptor(owner, member)
  Object.defineProperty(owner, member, { get: () => undefined, set() {}, configurable: true })
  try {
    await work()
  } finally {
    if (own) Object.defineProperty(owner, member, own)
    else Reflect.deleteProperty(owner, member)
  }
}
