// The test inside withRollback() that docs/testing.md shows. In a file of its own: a model belongs to one running database.
import '../../example/recipes/rollback.test.js'
