//! The controlled vocabularies (spec 3, "Controlled vocabularies" and the input table), and what their values
//! mean to the rules. A vocabulary that the spec only inherits and does not show is a plain text elsewhere.

use contract_sdk::Vocabulary;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum YogaStyle {
    Hatha,
    Vinyasa,
    Iyengar,
    Ashtanga,
    Kundalini,
    Yin,
    Restorative,
    PowerYoga,
    HotYoga,
    HotSequenceStyle,
    StyleBrandA,
    Sivananda,
    AerialYoga,
    AquaYoga,
    ChairYoga,
    Prenatal,
    Postpartum,
    Meditative,
    Mantra,
    Bhakti,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ClassKind {
    GroupDropIn,
    PrivateSession,
    GroupThemedWorkshop,
    SilentClass,
    SpecialIntro,
    BeginnersOnly,
    AdvancedOnly,
    PrenatalClass,
    PostpartumClass,
    SeniorsClass,
    KidsClass,
}

/// How warm the room is; `hot_yoga_40c` means a measured 38 to 42 degrees Celsius.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum TemperatureKind {
    RoomTemp,
    WarmStudio,
    #[value("hot_yoga_40c")]
    HotYoga40c,
    CoolStudio,
}

/// Props, required by users, provided by studios, used in a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum Prop {
    Mat,
    Block,
    Strap,
    Bolster,
    Blanket,
    Wheel,
    Chair,
    WallRopes,
    SuspensionStrap,
    MeditationCushion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum StudioKind {
    DedicatedYogaStudio,
    WellnessCenter,
    FitnessWithYogaFloor,
    AshramOrTraditional,
    CelebrityBrand,
    FranchiseChain,
    HomeStudioCertified,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum YogaLineage {
    Iyengar,
    Ashtanga,
    IyengarFounderLineage,
    Sivananda,
    Kundalini,
    HathaTraditional,
    VinyasaModern,
    ModernLineage,
    PartnerMethod,
    Mixed,
}

/// Lineages in which instructors are trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum TrainedInLineage {
    Iyengar,
    Ashtanga,
    Sivananda,
    Kundalini,
    HathaTraditional,
    VinyasaModern,
    ModernLineage,
    PartnerMethod,
    Mixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum StudioFloorKind {
    Hardwood,
    Bamboo,
    SprungFloor,
    RubberMatCarpet,
    ConcreteWithMats,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PassKind {
    SingleClass,
    TrialClass,
    GuestPass,
    PrivateWithInstructor,
    WeeklyUnlimited,
    MonthlyDropInPack,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
#[vocabulary(name = "pass_includes")]
pub enum PassInclusion {
    ClassAttendance,
    PropsUse,
    ShowerAccess,
    LockerAccess,
    PostClassMeditation,
    HerbalTea,
    CoolingTowel,
}

/// How difficult a class is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum DifficultyLevel {
    Beginner,
    Intermediate,
    Advanced,
    Mixed,
}

/// What instructors are specialised in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
#[vocabulary(name = "instructor_specialization")]
pub enum Specialization {
    HathaSpecialist,
    VinyasaSpecialist,
    IyengarCertified,
    AshtangaCertified,
    KundaliniCertified,
    PrenatalCertified,
    PostpartumCertified,
    YinSpecialist,
    MeditationTeacher,
    MantraChanting,
    SanskritTeacher,
    SeniorYogaSpecialist,
    BackPainRehabYoga,
}

/// What instructors are certified as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
#[vocabulary(name = "instructor_certification")]
pub enum Certification {
    #[value("registry_200")]
    Registry200,
    #[value("registry_500")]
    Registry500,
    RegistryEryt,
    IyengarIntroductory,
    IyengarIntermediate,
    IyengarSenior,
    AshtangaAuthorized,
    AshtangaCertified,
    SivanandaTtc,
    OrgYogaProgram,
    ModernLineageInstitute,
    StateYogaCouncilCert,
    PartnerInternalCert,
}

impl Certification {
    /// Whether it is a registry 200-hour or worth one: every one but the partner's own.
    pub(crate) const fn equals_registry_200(self) -> bool {
        !matches!(self, Self::PartnerInternalCert)
    }

    /// Whether it claims an entry in the registry.
    pub(crate) const fn claims_registry(self) -> bool {
        matches!(self, Self::Registry200 | Self::Registry500 | Self::RegistryEryt)
    }
}

/// Who certifies instructors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum CertifyingAuthority {
    RegistryBody,
    IyengarBody,
    AshtangaLineageBody,
    SivanandaLineage,
    OrgProgramBody,
    ModernLineageBody,
    StateYogaCouncil,
    AytmAuthority,
    PartnerInternal,
}

/// Kinds of session that a user asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum SessionKind {
    DropInClass,
    TrialClass,
    PrivateSession,
    GuestPass,
    ThemedWorkshop,
    RetreatIntro,
}

/// How far a user has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum YogaExperienceLevel {
    Beginner,
    Novice,
    Intermediate,
    Advanced,
    TeacherLevel,
}

/// What a user discloses of their health.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum MedicalCondition {
    Hypertension,
    Diabetes,
    HeartCondition,
    BackPain,
    KneeProblem,
    ShoulderProblem,
    Hernia,
    Arthritis,
    RecentSurgery,
    Pregnancy,
    Postpartum,
    Other,
    None,
    MildBackPain,
}

/// What a user practises for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum YogaGoal {
    Flexibility,
    Strength,
    StressReduction,
    Meditation,
    WeightLoss,
    Posture,
    BackPainRelief,
    BetterSleep,
    Spiritual,
    AthleticRecovery,
    PrenatalWellness,
    PostpartumRecovery,
}

/// Whether a user is pregnant or has given birth. It drives the prenatal filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PregnantOrPostpartum {
    None,
    #[value("pregnant_t1")]
    PregnantT1,
    #[value("pregnant_t2")]
    PregnantT2,
    #[value("pregnant_t3")]
    PregnantT3,
    #[value("postpartum_under_6mo")]
    PostpartumUnder6mo,
    #[value("postpartum_over_6mo")]
    PostpartumOver6mo,
}

/// What a user wants to hear during a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum MusicDuringClassKind {
    Silent,
    Mantra,
    SoftInstrumental,
    Classical,
    NatureSounds,
    Bowls,
}
