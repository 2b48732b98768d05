const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype))

/** Whether every object has a property of this name, such as 'toString': of such a one only its own counts. */
export function isInherited(name: string): boolean {
  return INHERITED.has(name)
}

/** The value of a property; `inherited` is what {@link isInherited} says of its name. */
export function valueOf(source: Readonly<Record<string, unknown>>, name: string, inherited: boolean): unknown {
  return inherited && !Object.hasOwn(source, name) ? undefined : source[name]
}
