/** Whether a dialect of Sequelize, or a kind of database, is MySQL or MariaDB, which take the same SQL but for little. */
export function isMysql(dialect: string | undefined): boolean {
  return dialect === 'mysql' || dialect === 'mariadb'
}
