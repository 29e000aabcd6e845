// Owns how the suite runs: on the compiled files, whole by default, files named by hand alone.

const named = process.argv.slice(2).some((argument) => argument.endsWith('.js'));

module.exports = {
  ...(named ? {} : { spec: ['dist/test/**/*.test.js'] }),
  reporter: './scripts/reporter.cjs',
  'fail-zero': true,
  'forbid-only': Boolean(process.env.CI),
  // As a flag of node it reaches worker threads too; setSourceMapsEnabled does not.
  'node-option': ['enable-source-maps'],
  // A bound against hanging, not a measure: a busy machine is slow.
  timeout: 180_000,
  slow: 1_000,
};
