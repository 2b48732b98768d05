-- The tables of Chinook, a shop for music, as on MySQL and MariaDB.
CREATE TABLE `Artist` (`ArtistId` INT NOT NULL AUTO_INCREMENT, `Name` VARCHAR(120), CONSTRAINT `PK_Artist` PRIMARY KEY (`ArtistId`));
CREATE TABLE `Album` (
  `AlbumId` INT NOT NULL AUTO_INCREMENT,
  `Title` VARCHAR(160) NOT NULL,
  `ArtistId` INT NOT NULL,
  CONSTRAINT `PK_Album` PRIMARY KEY (`AlbumId`),
  FOREIGN KEY (`ArtistId`) REFERENCES `Artist` (`ArtistId`) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE TABLE `Employee` (
  `EmployeeId` INT NOT NULL AUTO_INCREMENT,
  `LastName` VARCHAR(20) NOT NULL,
  `FirstName` VARCHAR(20) NOT NULL,
  `Title` VARCHAR(30),
  `ReportsTo` INT,
  `BirthDate` DATETIME,
  `HireDate` DATETIME,
  `Email` VARCHAR(60),
  CONSTRAINT `PK_Employee` PRIMARY KEY (`EmployeeId`),
  FOREIGN KEY (`ReportsTo`) REFERENCES `Employee` (`EmployeeId`) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE TABLE `Customer` (
  `CustomerId` INT NOT NULL AUTO_INCREMENT,
  `FirstName` VARCHAR(40) NOT NULL,
  `LastName` VARCHAR(20) NOT NULL,
  `Company` VARCHAR(80),
  `PostalCode` VARCHAR(10),
  `Email` VARCHAR(60) NOT NULL,
  `SupportRepId` INT,
  CONSTRAINT `PK_Customer` PRIMARY KEY (`CustomerId`),
  FOREIGN KEY (`SupportRepId`) REFERENCES `Employee` (`EmployeeId`) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE TABLE `Genre` (`GenreId` INT NOT NULL AUTO_INCREMENT, `Name` VARCHAR(120), CONSTRAINT `PK_Genre` PRIMARY KEY (`GenreId`));
CREATE TABLE `MediaType` (`MediaTypeId` INT NOT NULL AUTO_INCREMENT, `Name` VARCHAR(120), CONSTRAINT `PK_MediaType` PRIMARY KEY (`MediaTypeId`));
CREATE TABLE `Track` (
  `TrackId` INT NOT NULL AUTO_INCREMENT,
  `Name` VARCHAR(200) NOT NULL,
  `AlbumId` INT,
  `MediaTypeId` INT NOT NULL,
  `GenreId` INT,
  `Composer` VARCHAR(220),
  `Milliseconds` INT NOT NULL,
  `Bytes` INT,
  `UnitPrice` NUMERIC(10,2) NOT NULL,
  CONSTRAINT `PK_Track` PRIMARY KEY (`TrackId`),
  FOREIGN KEY (`AlbumId`) REFERENCES `Album` (`AlbumId`) ON DELETE NO ACTION ON UPDATE NO ACTION,
  FOREIGN KEY (`GenreId`) REFERENCES `Genre` (`GenreId`) ON DELETE NO ACTION ON UPDATE NO ACTION,
  FOREIGN KEY (`MediaTypeId`) REFERENCES `MediaType` (`MediaTypeId`) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE TABLE `Invoice` (
  `InvoiceId` INT NOT NULL AUTO_INCREMENT,
  `CustomerId` INT NOT NULL,
  `InvoiceDate` DATETIME NOT NULL,
  `BillingCity` VARCHAR(40),
  `Total` NUMERIC(10,2) NOT NULL,
  CONSTRAINT `PK_Invoice` PRIMARY KEY (`InvoiceId`),
  FOREIGN KEY (`CustomerId`) REFERENCES `Customer` (`CustomerId`) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE TABLE `InvoiceLine` (
  `InvoiceLineId` INT NOT NULL AUTO_INCREMENT,
  `InvoiceId` INT NOT NULL,
  `TrackId` INT NOT NULL,
  `UnitPrice` NUMERIC(10,2) NOT NULL,
  `Quantity` INT NOT NULL,
  CONSTRAINT `PK_InvoiceLine` PRIMARY KEY (`InvoiceLineId`),
  FOREIGN KEY (`InvoiceId`) REFERENCES `Invoice` (`InvoiceId`) ON DELETE NO ACTION ON UPDATE NO ACTION,
  FOREIGN KEY (`TrackId`) REFERENCES `Track` (`TrackId`) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE TABLE `Playlist` (`PlaylistId` INT NOT NULL AUTO_INCREMENT, `Name` VARCHAR(120), CONSTRAINT `PK_Playlist` PRIMARY KEY (`PlaylistId`));
CREATE TABLE `PlaylistTrack` (
  `PlaylistId` INT NOT NULL,
  `TrackId` INT NOT NULL,
  CONSTRAINT `PK_PlaylistTrack` PRIMARY KEY (`PlaylistId`, `TrackId`),
  FOREIGN KEY (`PlaylistId`) REFERENCES `Playlist` (`PlaylistId`) ON DELETE NO ACTION ON UPDATE NO ACTION,
  FOREIGN KEY (`TrackId`) REFERENCES `Track` (`TrackId`) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE INDEX `IFK_AlbumArtistId` ON `Album` (`ArtistId`);
CREATE INDEX `IFK_CustomerSupportRepId` ON `Customer` (`SupportRepId`);
CREATE INDEX `IFK_EmployeeReportsTo` ON `Employee` (`ReportsTo`);
CREATE INDEX `IFK_InvoiceCustomerId` ON `Invoice` (`CustomerId`);
CREATE INDEX `IFK_InvoiceLineInvoiceId` ON `InvoiceLine` (`InvoiceId`);
CREATE INDEX `IFK_InvoiceLineTrackId` ON `InvoiceLine` (`TrackId`);
CREATE INDEX `IFK_PlaylistTrackTrackId` ON `PlaylistTrack` (`TrackId`);
CREATE INDEX `IFK_TrackAlbumId` ON `Track` (`AlbumId`);
CREATE INDEX `IFK_TrackGenreId` ON `Track` (`GenreId`);
CREATE INDEX `IFK_TrackMediaTypeId` ON `Track` (`MediaTypeId`)
