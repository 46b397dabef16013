// node download-server.js FOLDER: has the SDK download the Temporal server it was made for into FOLDER, and runs it once.
import { TestWorkflowEnvironment } from '@temporalio/testing';

const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir: process.argv[2] } },
});
await environment.teardown();
