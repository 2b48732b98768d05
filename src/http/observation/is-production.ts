/** Whether warnings for developers are left out. */
export function isProduction(): boolean {
  return process.env['NODE_ENV'] === 'production'
}
