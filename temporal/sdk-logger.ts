import type { Logger as SdkLogger, LogLevel, LogMetadata } from '@temporalio/worker';
import type { Logger } from 'pino';

/** The SDK's log lines as ours. Its INFO lines tell about its own start and stop: `debug` here. */
export function sdkLogger(logger: Logger): SdkLogger {
  const log = (level: LogLevel, message: string, meta: LogMetadata = {}): void => {
    // The worker of this machine's own queue runs activities alone, as it is meant to.
    if (message.startsWith('No workflows registered')) return;
    const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
    logger[levels[level]](meta, message);
  };
  return {
    log,
    trace: (message, meta) => log('TRACE', message, meta),
    debug: (message, meta) => log('DEBUG', message, meta),
    info: (message, meta) => log('INFO', message, meta),
    warn: (message, meta) => log('WARN', message, meta),
    error: (message, meta) => log('ERROR', message, meta),
  };
}
