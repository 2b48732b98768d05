// The test that docs/testing.md shows runs as one of the tests.
import '../../example/recipes/jobs.test.js'
