DROP INDEX `device_logins_user_code`;--> statement-breakpoint
ALTER TABLE `device_logins` DROP COLUMN `user_code`;--> statement-breakpoint
ALTER TABLE `device_logins` DROP COLUMN `name`;--> statement-breakpoint
ALTER TABLE `device_logins` DROP COLUMN `interval_seconds`;--> statement-breakpoint
ALTER TABLE `device_logins` DROP COLUMN `polled_at`;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `parent` text;--> statement-breakpoint
ALTER TABLE `console_sessions` ADD `parent` text;--> statement-breakpoint
CREATE INDEX `console_sessions_parent` ON `console_sessions` (`parent`);--> statement-breakpoint
ALTER TABLE `sign_in_links` ADD `parent` text;