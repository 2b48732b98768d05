/** The value of an environment variable, whose name may have any letter case. */
export function variable(name: string): string | undefined {
  const exact = process.env[name]
  if (exact !== undefined) return exact
  const key = Object.keys(process.env).find((other) => other.toLowerCase() === name.toLowerCase())
  return key === undefined ? undefined : process.env[key]
}
