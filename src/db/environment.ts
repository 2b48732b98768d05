/** A variable of the environment, its name in any letter case. */
export function fromEnvironment(name: string): string | undefined {
  const key =
    process.env[name] === undefined
      ? Object.keys(process.env).find((other) => other.toLowerCase() === name.toLowerCase())
      : name
  return key === undefined ? undefined : process.env[key]
}
