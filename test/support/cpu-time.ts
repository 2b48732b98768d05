/** How many milliseconds of CPU time some work takes, of all threads of this process. For laws on the cost of hostile inputs. */
export async function cpuMilliseconds(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
