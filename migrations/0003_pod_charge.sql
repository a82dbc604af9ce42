ALTER TABLE `pods` ADD `charged_from` integer;--> statement-breakpoint
UPDATE `pods` SET `charged_from` = `started_at` WHERE `status` = 'RUNNING';
