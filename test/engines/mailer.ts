/** What test/engines/bullmq-program.ts imports of its project. */
export const mailer = {
  async send(to: string, text: string, key: string): Promise<void> {
    console.log(`To ${to}: ${text} (${key})`)
  },
}
